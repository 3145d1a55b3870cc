/** Survivors that no test could kill, and why. */
export const explained: readonly { file: string; original: string; replacement: string; why: string }[] = [];
