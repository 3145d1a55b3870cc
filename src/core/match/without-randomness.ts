/* oxlint-disable no-restricted-properties -- chance is taken away here, not asked */
const given = Math.random;
/** In the sandbox of a run it may be fixed already. */
const isOurs = !Object.isFrozen(Math);

/**
 * brace-expansion, which minimatch brings along and never asks here (`nobrace`), makes five words by chance while it is
 * loaded. In the workflow sandbox that would either fail, where it is loaded before any run, or take five numbers from
 * the run's own chance, so that the ids of a run would depend on how the worker loads its bundle (I12). So chance stands
 * still from here until `giveRandomBack`.
 */
if (isOurs) Math.random = () => 0.5;

export function giveRandomBack(): void {
  if (isOurs) Math.random = given;
}
