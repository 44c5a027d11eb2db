import Encodings

/// The members of a JSON object, in the order of the document.
public struct JSONObject: Sendable {
    public private(set) var members: [(name: String, value: JSONValue)]

    public init(_ members: [(String, JSONValue)] = []) {
        self.members = []
        for (name, value) in members { self[name] = value }
    }

    /// The value of a member, found by the bytes of its name. Setting `nil` removes the member.
    public subscript(name: String) -> JSONValue? {
        get { members.first { $0.name.isByteEqual(to: name) }?.value }
        set {
            let index = members.firstIndex { $0.name.isByteEqual(to: name) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// Appends a member whose name must be new.
    mutating func append(_ name: String, _ value: JSONValue) {
        members.append((name, value))
    }
}

extension JSONObject: Equatable {
    /// Equal members in the same order; names compare byte for byte.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.members.elementsEqual(rhs.members) { $0.name.isByteEqual(to: $1.name) && $0.value == $1.value }
    }
}
