/// A JSON value of a scenario, compared by the bytes of its strings.
enum JSONTree: Decodable, Hashable, Sendable {
    case bool(Bool)
    case integer(Int64)
    case text(ExactText)
    case array([JSONTree])
    case object([String: JSONTree])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let text = try? value.decode(ExactText.self) {
            self = .text(text)
        } else if let array = try? value.decode([JSONTree].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSONTree].self))
        }
    }

    init(_ text: String) {
        self = .text(ExactText(text))
    }

    /// An object of the members that have a value.
    init(members: [String: JSONTree?]) {
        self = .object(members.compactMapValues { $0 })
    }

    subscript(member: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members[member]
    }

    /// Differences of `found` from this value. Additional members of `found` are ignored.
    func differences(from found: JSONTree?, at path: String = "") -> [String] {
        guard let found else { return ["\(path) is absent"] }
        switch (self, found) {
        case (.object(let expected), .object(let members)):
            return expected.sorted { $0.key < $1.key }.flatMap { name, value in
                value.differences(from: members[name], at: path.isEmpty ? name : "\(path).\(name)")
            }
        default:
            return self == found ? [] : ["\(path) is \(found), not \(self)"]
        }
    }
}

extension JSONTree: CustomStringConvertible {
    var description: String {
        switch self {
        case .bool(let bool): "\(bool)"
        case .integer(let integer): "\(integer)"
        case .text(let text): "\(text)"
        case .array(let array): "\(array)"
        case .object(let members): "\(members)"
        }
    }
}
