/** What is odd about a policy that loads. */
export interface PolicyWarning {
  /** Index in `policy.rules`; absent where no rule is meant. */
  index?: number;
  /** Id of that rule. */
  rule?: string;
  /** One sentence. */
  message: string;
}
