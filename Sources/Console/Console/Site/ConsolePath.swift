import HTTPEngine

/// Paths of the console that a response may lead to.
enum ConsolePath {
    /// Returns the full path for a path below the console's root, or one that begins with the root already.
    /// Anything else, such as an address of another site, becomes the root.
    static func full(_ path: String) -> String {
        let full =
            path == ConsoleSite.root || path.hasPrefix(ConsoleSite.root + "/")
            ? path : ConsoleSite.root + path
        return isSafe(full) ? full : ConsoleSite.root
    }

    /// Returns the text if it is a path of the console with an optional query.
    static func safe(_ path: String?) -> String? {
        guard let path, path == ConsoleSite.root || path.hasPrefix(ConsoleSite.root + "/") else { return nil }
        return isSafe(path) ? path : nil
    }

    /// Two slashes would name another host, some browsers take a backslash for a slash, and a line break would
    /// begin another header field.
    private static func isSafe(_ path: String) -> Bool {
        path.utf8.count <= 2048 && path.hasPrefix(ConsoleSite.root) && !path.contains("//")
            && path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    }
}
