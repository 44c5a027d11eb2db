import AppleAccounts
import EventDelivery
import StrictJSON

extension PollRequest {
    /// Reads the body of a poll (RFC 8936 §2.2). Members that the RFC does not define are ignored, and so is a
    /// `jti` that this service did not make.
    init(parsing bytes: [UInt8]) throws(Problem) {
        // One more than the bound, so that the error names the member.
        var body = try RequestBody(bytes, limits: JSONLimits(members: Self.mostEnded + 1))
        var most = Self.mostTokens
        var isImmediate = false
        var taken: Set<EventID> = []
        var refused: Set<EventID> = []
        while let name = try body.next() {
            switch name {
            case "maxEvents":
                guard let value = try body.value() else { continue }
                guard let number = Self.count(value) else { throw Self.malformed("maxEvents") }
                most = number
            case "returnImmediately": isImmediate = try body.bool("returnImmediately") ?? false
            case "ack":
                guard let value = try body.value() else { continue }
                guard let list = value.array, list.count <= Self.mostEnded else {
                    throw Self.malformed("ack")
                }
                for element in list {
                    guard let id = element.string else { throw Self.malformed("ack") }
                    if let id = EventID(id) { taken.insert(id) }
                }
            case "setErrs":
                guard let value = try body.value() else { continue }
                guard let object = value.object, object.members.count <= Self.mostEnded,
                    object.members.allSatisfy({ Self.isError($0.value) })
                else { throw Self.malformed("setErrs") }
                refused.formUnion(object.members.compactMap { EventID($0.name) })
            default: try body.skip()
            }
        }
        self.init(mostTokens: most, isImmediate: isImmediate, taken: taken, refused: refused)
    }

    /// Returns `true` for an error as RFC 8936 §2.6 has it: a code, and possibly a text.
    private static func isError(_ value: JSONValue) -> Bool {
        guard value["err"]?.string != nil else { return false }
        let description = value["description"]
        return description == nil || description?.string != nil
    }

    /// Returns a number of tokens within the bound; `nil` for a negative or broken number.
    ///
    /// `10.0` and `1e1` are integers in JSON, and programs whose numbers are all floating-point write them.
    private static func count(_ value: JSONValue) -> Int? {
        switch value {
        case .integer(let number): return number >= 0 ? Int(min(number, Int64(mostTokens))) : nil
        case .number(let text):
            guard let number = Double(text), number >= 0, number == number.rounded() else { return nil }
            return Int(min(number, Double(mostTokens)))
        case .null, .bool, .string, .array, .object: return nil
        }
    }

    private static func malformed(_ name: String) -> Problem {
        Problem(.memberMalformed, subject: .member(name))
    }
}

extension PollResponse {
    /// RFC 8936 §2.3.
    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 64 + 1024 * tokens.count)
        json.beginObject()
        json.name("sets")
        json.beginObject()
        for token in tokens {
            json.name(token.id.rawValue)
            json.value(.string(token.text))
        }
        json.endObject()
        json.member("moreAvailable", hasMore)
        json.endObject()
        return json.bytes
    }
}
