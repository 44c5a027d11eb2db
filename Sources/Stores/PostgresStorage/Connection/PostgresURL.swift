import AppleAccounts
import CLibPQ

/// Address and credentials of the database: a URL as libpq reads it, with every option that libpq knows.
///
/// It contains a password. It is never printed, and libpq is kept from printing it: libpq repeats the pieces
/// of a URL that it has misread, and half a password can look like a port to it.
struct PostgresURL: Sendable {
    let text: String
    /// Options of the URL by libpq's keywords, without anything from the environment.
    let options: [String: String]

    /// Indicates several hosts: another host may accept writes when this one does not.
    var hasSeveralHosts: Bool {
        ["host", "hostaddr"].contains { options[$0]?.utf8.contains(UInt8(ascii: ",")) ?? false }
    }

    /// - Throws: `StorageError` `unavailable` for a URL that libpq cannot read. The detail repeats nothing of
    ///   it.
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

    /// Removes the password from a message of libpq. No message should contain it.
    func scrub(_ message: String) -> String {
        guard let password = options["password"], !password.isEmpty else { return message }
        return message.split(separator: password, omittingEmptySubsequences: false)
            .joined(separator: "[password]")
    }

    private static func options(of text: String) -> [String: String]? {
        var message: UnsafeMutablePointer<CChar>?
        let first = PQconninfoParse(text, &message)
        // The message may repeat a password, so it is not shown.
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

    /// Returns true if "@" occurs only at the end of the user and password, so that no part of a password
    /// that was not percent-encoded is taken for a host or a database.
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
