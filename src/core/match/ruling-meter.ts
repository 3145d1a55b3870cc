/** The work of all rulings in one step of a run, as lengths of patterns times lengths of texts. */
export interface RulingMeter {
  work: number;
}

/** What is left for the conditions of one ruling, in steps. It starts at `maxConditionWork` (condition.ts). */
export interface ConditionBudget {
  left: number;
}
