import { policyInvalid } from './policy-invalid.ts';

/**
 * Throws `policy_invalid` unless an optional package is installed. It finds the package and does not load it, which takes
 * time and is done for the first message.
 */
export function requirePackage(name: string, what: string): void {
  try {
    import.meta.resolve(name);
  } catch {
    throw policyInvalid(
      `${what} needs the package '${name}': install it beside countersign with \`npm install ${name}\`.`,
    );
  }
}
