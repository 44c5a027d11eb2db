import AppleAccounts
import CLibPQ

/// Where the database is and how to get in: a URL as libpq reads it, with every option that libpq knows.
///
/// It has a password. Nothing of it is printed, and it keeps libpq from printing it: libpq repeats the pieces
/// of a URL that it has misread, and what looks like a port to it can be half a password.
struct PostgresURL: Sendable {
    let text: String
    /// What it says, by libpq's keywords, with nothing from the environment.
    let options: [String: String]

    /// Another of them may take writes when this one does not.
    var hasSeveralHosts: Bool {
        ["host", "hostaddr"].contains { options[$0]?.utf8.contains(UInt8(ascii: ",")) ?? false }
    }

    /// - Throws: `StorageError` `unavailable` for what libpq cannot read. The detail repeats nothing of it.
    init(_ text: String) throws(StorageError) {
        guard Self.isUnmistakable(text) else {
            throw StorageError(
                .unavailable,
                detail:
                    "the database URL cannot be read: @, /, ? and % in a user or password must be percent-encoded"
            )
        }
        guard let options = Self.options(of: text), Self.isPortList(options["port"] ?? "") else {
            throw StorageError(.unavailable, detail: "the database URL cannot be read by libpq")
        }
        (self.text, self.options) = (text, options)
    }

    /// Takes the password out of what libpq said. It should not be in there at all.
    func scrub(_ message: String) -> String {
        guard let password = options["password"], !password.isEmpty else { return message }
        return message.split(separator: password, omittingEmptySubsequences: false)
            .joined(separator: "[password]")
    }

    private static func options(of text: String) -> [String: String]? {
        var message: UnsafeMutablePointer<CChar>?
        let first = PQconninfoParse(text, &message)
        // It may repeat a password, so it is not shown.
        PQfreemem(message)
        guard let first else { return nil }
        defer { PQconninfoFree(first) }
        var options: [String: String] = [:]
        var option = first
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { options[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return options
    }

    /// An "@" belongs to the end of the user and password and nowhere else, so that what libpq takes for a
    /// host or a database is no part of a password that was not encoded.
    private static func isUnmistakable(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://"), !bytes.contains(0),
            let scheme = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return false }
        let rest = bytes[(scheme + 3)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") } ?? rest.endIndex
        var place = rest[end...]
        if place.first == UInt8(ascii: "@") { place = place.dropFirst() }
        return !place.prefix { $0 != UInt8(ascii: "?") }.contains(UInt8(ascii: "@"))
    }

    private static func isPortList(_ text: String) -> Bool {
        text.utf8.allSatisfy {
            $0 == UInt8(ascii: ",") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
    }
}
