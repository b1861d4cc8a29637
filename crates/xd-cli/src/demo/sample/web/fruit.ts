import { count } from "metrics";

export interface Fruit {
  name: string;
  price: number;
}

export function parse(line: string): Fruit {
  const [name, price] = line.split(";");
  if (Number.isNaN(Number(price))) count("fruit.unpriced");
  return { name, price: Number(price) };
}
