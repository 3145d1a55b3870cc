/** The sum of an argument over the calls of a tool; undefined if it is not known. */
export type SumOf = (tool: string, argument: string) => number | undefined;
