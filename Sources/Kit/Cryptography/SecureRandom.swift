import COpenSSL

/// Random bytes from OpenSSL's cryptographic generator.
public enum SecureRandom {
    /// Returns random bytes. It terminates the process if OpenSSL fails, because a process without
    /// randomness must not continue.
    public static func bytes(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            precondition(RAND_bytes(output.baseAddress, Int32(count)) == 1, "no randomness")
            initialized = count
        }
    }
}
