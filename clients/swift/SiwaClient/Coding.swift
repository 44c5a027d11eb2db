public import Foundation

extension Data {
    /// The JSON of members, which always have one.
    static func json(_ members: [String: JSONValue]) -> Data {
        // Numbers that JSON cannot write do not come out of JSON, and the package makes none.
        (try? JSONEncoder.siwa.encode(members)) ?? Data()
    }
}

extension Date {
    private static let format = ISO8601FormatStyle(includingFractionalSeconds: true)

    /// RFC 3339 in UTC with milliseconds, as siwa writes times.
    var text: String {
        // The format cuts digits off, so the time is first rounded to a millisecond.
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        return Date(timeIntervalSince1970: (milliseconds + 0.5) / 1000).formatted(Self.format)
    }

    /// Reads exactly the form that siwa writes.
    init?(text: String) {
        guard let time = try? Self.format.parse(text) else { return nil }
        self.init(timeIntervalSince1970: (time.timeIntervalSince1970 * 1000).rounded() / 1000)
        guard self.text == text else { return nil }
    }
}

extension JSONDecoder {
    /// Reads models, with siwa's times. Skips unknown members.
    public static var siwa: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let time = Date(text: try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "expected a time like 2026-03-14T09:30:00.000Z")
            }
            return time
        }
        return decoder
    }
}

extension JSONEncoder {
    /// Writes models with siwa's member names and times, without absent members.
    public static var siwa: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.text)
        }
        return encoder
    }
}

extension String {
    /// The text as one segment of a path, or as a value of a query.
    var percentEncoded: String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
