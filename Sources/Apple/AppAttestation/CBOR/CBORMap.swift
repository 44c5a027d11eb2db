/// A map of CBOR with the entries in their order. No key occurs twice.
struct CBORMap: Sendable, Equatable {
    /// The keys are integers and texts.
    let entries: [(key: CBORValue, value: CBORValue)]

    /// The value of a text key; `nil` when there is none.
    subscript(key: String) -> CBORValue? {
        // Bytes are compared, because Swift's `==` of strings treats some different texts as equal.
        entries.first { $0.key.text?.utf8.elementsEqual(key.utf8) == true }?.value
    }

    /// The value of an integer key; `nil` when there is none.
    subscript(key: Int64) -> CBORValue? {
        entries.first { $0.key.integer == key }?.value
    }

    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.entries.count == rhs.entries.count
            && zip(lhs.entries, rhs.entries).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    }
}
