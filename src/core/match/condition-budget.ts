/** Steps left for the conditions of one ruling: starts at `maxConditionWork` of condition.ts. */
export interface ConditionBudget {
  left: number;
}
