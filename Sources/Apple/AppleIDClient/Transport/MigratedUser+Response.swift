import StrictJSON

extension MigratedUser {
    /// Reads the response for the receiving team. Throws the matching error for any other response.
    init(_ response: AppleResponse) throws(AppleCallError) {
        let document = try response.json()
        let isPrivate = document["is_private_email"]
        guard let subject = document["sub"]?.string, (1...255).contains(subject.utf8.count),
            document["email"].map({ $0.string != nil }) ?? true,
            isPrivate.map({ Self.bool($0) != nil }) ?? true
        else {
            throw AppleCallError(.responseUnusable, detail: "no migrated user")
        }
        self.init(
            subject: subject, email: document["email"]?.string, isPrivateEmail: isPrivate.flatMap(Self.bool))
    }

    /// Apple writes the same claim as a boolean at some endpoints and as a string at others.
    private static func bool(_ value: JSONValue) -> Bool? {
        switch value {
        case .bool(let value): value
        case .string("true"): true
        case .string("false"): false
        case .string, .null, .integer, .number, .array, .object: nil
        }
    }
}
