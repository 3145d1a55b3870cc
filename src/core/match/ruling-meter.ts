/** The work of all rulings in one step of a run: characters of patterns compared with characters of texts. */
export interface RulingMeter {
  work: number;
}

/** Steps left for the conditions of one ruling: starts at `maxConditionWork` of condition.ts. */
export interface ConditionBudget {
  left: number;
}
