import Encodings

/// Hidden fields of a form.
package enum HiddenFields {
    package static func html(_ fields: [(name: String, value: String)]) -> String {
        fields.map { name, value in
            "<input type=\"hidden\" name=\"\(name.htmlEscaped)\" value=\"\(value.htmlEscaped)\">"
        }.joined()
    }
}
