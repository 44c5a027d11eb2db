/// Generates an e-mail address for a user who was created without an address.
enum DerivedAddress {
    /// Returns `first.last@example.com` if this address is free, otherwise the same with the user's number
    /// after the name; `user.<number>` for a name with letters other than a to z.
    static func make(
        firstName: String?, lastName: String?, number: Int, isTaken: (String) -> Bool
    ) -> String {
        let name = localPart(firstName, lastName)
        if let name, !isTaken("\(name)@example.com") { return "\(name)@example.com" }
        var number = number
        // Another user may have this address. The loop ends, because there are fewer users than numbers.
        while isTaken(numbered(name, number)) { number += 1 }
        return numbered(name, number)
    }

    private static func numbered(_ name: String?, _ number: Int) -> String {
        "\(name ?? "user").\(number)@example.com"
    }

    /// The words of the name in lower case, with dots between them.
    private static func localPart(_ names: String?...) -> String? {
        let text = names.compactMap { $0 }.joined(separator: " ").lowercased()
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let words = text.split { !($0.isLetter || $0.isNumber) }.joined(separator: ".")
        // The local part has at most 64 characters (RFC 5321 §4.5.3.1.1), the number included.
        return words.isEmpty || words.utf8.count > 58 ? nil : words
    }
}
