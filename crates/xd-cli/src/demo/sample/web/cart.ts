import { count, debug } from "metrics";
import { Fruit } from "./fruit";

export class Cart {
  private items: Fruit[] = [];

  add(fruit: Fruit): void {
    count("cart.add");
    this.items.push(fruit);
  }

  checkout(): number {
    debug("checkout", this.items.length);
    count(`cart.checkout.${this.items.length > 10 ? "bulk" : "retail"}`);
    return this.items.reduce((sum, fruit) => sum + fruit.price, 0);
  }
}
