/**
 * Adds up the work of all rulings of one step of a run. One unit is one character of a pattern compared with one
 * character of a text.
 */
export interface RulingMeter {
  work: number;
}

/** Steps left for the conditions of one ruling: starts at `maxConditionWork` of condition.ts. */
export interface ConditionBudget {
  left: number;
}
