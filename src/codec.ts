/** Payload codecs, shared by the workers and clients of an encrypted namespace. */
export { codecServer, type CodecServerOptions } from './codec/codec-server.ts';
export { encrypted } from './codec/encryption-codec.ts';
export { EncryptionCodec, type EncryptionCodecOptions } from './codec/encryption-codec.ts';
export type { EncryptionKey, KeySource } from './codec/key-ring.ts';
export { RemoteCodec, type RemoteCodecOptions } from './codec/remote-codec.ts';
