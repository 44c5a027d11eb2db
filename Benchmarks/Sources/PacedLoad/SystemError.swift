import Glibc

/// A system call that failed.
struct SystemError: Error, CustomStringConvertible {
    let description: String

    init(_ call: String) {
        description = "\(call): \(String(cString: strerror(errno)))"
    }
}
