/// Text that is equal only to the same bytes. `String ==` compares by canonical equivalence, which would hide
/// differences between cases.
struct ExactText: Decodable, Hashable, Sendable, CustomStringConvertible {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    init?(_ text: String?) {
        guard let text else { return nil }
        self.text = text
    }

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    static func == (lhs: Self, rhs: Self) -> Bool { Array(lhs.text.utf8) == Array(rhs.text.utf8) }

    func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }

    var description: String { text.debugDescription }
}
