/** The processor time of `work`, in milliseconds. Unlike wall time, it does not grow on a busy machine. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
