/**
 * The processor time that this thread spends in `work`, in milliseconds. Machines differ in speed: compare it with another
 * measure of the same process.
 */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
