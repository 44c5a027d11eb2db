import Yams

extension SettingsFile {
    /// Sections that are lists, with the noun and the naming member of an entry. API keys have parts of their own,
    /// wherever they are written.
    private static let lists = [
        "teams": ("team", "team_id"), "webhooks": ("webhook", "name"),
        "oauth.clients": ("oauth_client", "id"), "oauth.scopes": ("oauth_scope", "name"),
    ]

    /// Returns the parts of a section, each in one spelling whatever the order of its members is.
    static func parts(ofSection name: String, _ node: Node) -> [String: String] {
        var parts: [String: String] = [:]
        if let (noun, member) = lists[name] {
            for entry in node.sequence ?? [] {
                let id = entry.mapping?[Node(member)]?.scalar?.string ?? "?"
                parts["\(noun) \(id)"] = spelling(of: entry)
            }
        } else if let mapping = node.mapping, name == "oauth" {
            for (key, value) in mapping {
                let member = "\(name).\(key.scalar?.string ?? "?")"
                if lists[member] != nil {
                    parts.merge(Self.parts(ofSection: member, value)) { first, _ in first }
                } else {
                    parts["setting \(member)"] = spelling(of: value)
                }
            }
        }
        return parts
    }

    /// Returns a text that is the same for the same content.
    private static func spelling(of node: Node) -> String {
        if let mapping = node.mapping {
            let members = mapping.map { "\(spelling(of: $0)):\(spelling(of: $1))" }
            return "{\(members.sorted().joined(separator: ","))}"
        }
        if let sequence = node.sequence {
            return "[\(sequence.map(spelling).joined(separator: ","))]"
        }
        let text = node.scalar?.string ?? ""
        return "\(text.utf8.count)\"\(text)\""
    }
}
