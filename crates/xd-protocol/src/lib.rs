//! Addresses, device names, usage lines and notices of the xd protocol.
