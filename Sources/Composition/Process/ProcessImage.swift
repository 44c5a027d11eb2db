#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The program of this process.
package enum ProcessImage {
    /// Replaces the program of this process by the program at `path`, with these arguments and the same
    /// environment. Returns only after a failure, with the error of `execv`.
    package static func replace(by path: String, _ arguments: [String]) -> CInt {
        // `strdup` allocates with the C library, and Swift does not free that memory.
        let copies: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        _ = execv(path, copies)
        return errno
    }
}
