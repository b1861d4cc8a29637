fn one() {}
