#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The program that this process executes.
package enum ProcessImage {
    /// Replaces this process's program with the program at `path`, with the given arguments and the same
    /// environment. Returns only on failure, with the error from `execv`.
    package static func replace(by path: String, _ arguments: [String]) -> CInt {
        // Swift does not free the memory that `strdup` allocates.
        let copies: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        _ = execv(path, copies)
        return errno
    }
}
