/// A path of `apple-app-site-association`: `*` stands for any characters, `?` for one.
struct AppLinkPattern: Sendable {
    /// Number of bytes of the longest path that is compared: a longer path would cost more than its response,
    /// and Google's paths are short.
    private static let longest = 512

    private let pattern: [UInt8]

    init(_ pattern: String) {
        self.pattern = Array(pattern.utf8)
    }

    /// Compares at most once for each byte of the path and of the pattern.
    func matches(_ path: Substring) -> Bool {
        let path = Array(path.utf8.prefix(Self.longest + 1))
        guard path.count <= Self.longest else { return false }
        var (next, position) = (0, 0)
        // The position after the last star, and the length of the path that the star stands for.
        var star: (next: Int, position: Int)?
        while position < path.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                next += 1
                star = (next, position)
            } else if next < pattern.count,
                pattern[next] == UInt8(ascii: "?") || pattern[next] == path[position]
            {
                next += 1
                position += 1
            } else if let last = star {
                star = (last.next, last.position + 1)
                (next, position) = (last.next, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
