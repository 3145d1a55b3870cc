/** Throws one sentence if Node is too old. Import this module first, because others would fail with obscure errors. */
const { node: version } = process.versions;
const [major = 0, minor = 0] = version.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 21)) {
  throw new Error(`Countersign needs Node 22.21 or newer; this is Node ${version} (${process.execPath}).`);
}
