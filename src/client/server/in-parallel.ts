/** Acts on all of them, at most `most` at a time, and returns the results in their order. */
export async function inParallel<One, Result>(
  all: readonly One[],
  most: number,
  act: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = all.entries();
  const lane = async (): Promise<void> => {
    for (const [index, one] of left) results[index] = await act(one);
  };
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, lane));
  return results;
}
