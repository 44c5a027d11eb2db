package import StrictJSON

extension JSONValue {
    /// Formats an object with one member per line, for a page.
    ///
    /// - Parameter indent: Indentation of the line on which the value begins.
    package func indented(_ indent: String = "") -> String {
        guard let object, !object.members.isEmpty else {
            return String(decoding: serialized(), as: UTF8.self)
        }
        let deeper = indent + "  "
        let members = object.members.map { member in
            let name = String(decoding: JSONValue.string(member.name).serialized(), as: UTF8.self)
            return "\(deeper)\(name): \(member.value.indented(deeper))"
        }
        return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
    }
}
