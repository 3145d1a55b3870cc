/** Something odd about a valid policy. */
export interface PolicyWarning {
  /** Index in `policy.rules`; absent if the warning is not about a rule. */
  index?: number;
  /** Id of that rule. */
  rule?: string;
  /** One sentence. */
  message: string;
}
