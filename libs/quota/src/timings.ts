/** How long permits last without a sign of life of whoever holds them. */
export interface PermitTimings {
  /** A renewed lease, ms. */
  readonly leaseMs: number;
  /** A fresh grant until its owner renews it for the first time, ms. */
  readonly claimMs: number;
}
