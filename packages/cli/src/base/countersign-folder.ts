import { fileURLToPath } from 'node:url';

/** The folder of the package `countersign`, with a slash at its end. In a clone it is the whole repository. */
export const countersignFolder = fileURLToPath(new URL('.', import.meta.resolve('countersign/package.json')));
