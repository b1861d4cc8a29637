from metrics import count, debug


def total(orders):
    """The turnover of all orders, in cents."""
    count("report.total")
    debug("orders", next(orders, None))
    return sum(order.cents for order in orders)


def best(orders, key=lambda order: order.cents):
    count("report.best")
    return max(orders, key=key)
