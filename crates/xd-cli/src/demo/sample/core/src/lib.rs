//! Keeps the stock.

use metrics::count;

/// Takes `wanted` pieces from `stock`, or none.
pub fn take(stock: &mut u32, wanted: u32) -> bool {
    if *stock < wanted {
        count("stock.short");
        return false;
    }
    *stock -= wanted;
    count("stock.taken");
    true
}
