import Hummingbird
public import StrictJSON

/// A response of a control API. The body's type declares the members once, for the response, the OpenAPI
/// document and the page.
package struct ControlResponse<Body: JSONMember> {
    let body: Body
    /// The value that scripts need most often; empty if the call has only JSON.
    let text: String

    package init(_ body: Body, text: String = "") { (self.body, self.text) = (body, text) }
}

/// A call's own format besides JSON and text: the body in another form.
package struct ControlVariant<Body: JSONMember>: Sendable {
    let format: ControlFormat
    let schema: JSONSchema
    let form: @Sendable (Body) -> any JSONMember

    package init<Form: JSONMember>(
        _ format: ControlFormat, _ form: @escaping @Sendable (Body) -> Form
    ) {
        (self.format, schema, self.form) = (format, Form.schema, form)
    }
}

/// Value of `?format=`: JSON, or plain text for shell scripts. Identity tokens and attestations have a third
/// format: the body of the request that sends them to the service, which is a sign-in or a key registration.
package enum ControlFormat: String, Sendable {
    case json, text
    case signIn = "sign-in"
    case registration

    /// Reads the format from `?format=`, otherwise from `Accept: text/plain`. The default is JSON. Throws
    /// `.parameterMalformed` for a format that the call does not have.
    init(of request: Request, among formats: [ControlFormat]) throws(EmulatorError) {
        guard let wanted = request.uri.queryParameters["format"] else {
            let isText = request.headers[.accept]?.hasPrefix("text/plain") == true
            self = isText && formats.contains(.text) ? .text : .json
            return
        }
        guard let format = ControlFormat(rawValue: String(wanted)), formats.contains(format) else {
            let words = formats.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.parameterMalformed, detail: "format: one of \(words)")
        }
        self = format
    }
}

extension JSONBody {
    public static var schemaName: String { "\(Self.self)" }
}

/// An object with a member for each word that has a value, such as the faults of the endpoints.
package struct MembersByWord<Word, Member: JSONMember>: JSONMember
where Word: RawRepresentable<String> & CaseIterable & Hashable & Sendable {
    private let values: [Word: Member]

    package init(_ values: [Word: Member]) { self.values = values }

    package static var schema: JSONSchema {
        .component("\(Member.self)s") {
            .object(
                required: [],
                properties: Word.allCases.map { ($0.rawValue, .object(Member.schema.keywords)) },
                components: Member.schema.components)
        }
    }

    package func write(into json: inout JSONWriter) {
        json.beginObject()
        for word in Word.allCases {
            guard let value = values[word] else { continue }
            json.name(word.rawValue)
            value.write(into: &json)
        }
        json.endObject()
    }
}
