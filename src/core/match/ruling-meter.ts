/** What rulings have cost, in units of one character of a pattern times one of a text: of all calls of one step of a run. */
export interface RulingMeter {
  work: number;
}
