/** Which models are coming back after they were down; they are used less than fully until they have proved well. */
export abstract class Recoveries {
  /** When a model began to come back, ms since the epoch; null: it does not, it is well or down. */
  abstract since(model: string): number | null;
}
