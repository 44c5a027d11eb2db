public import AppleAccounts

/// The configuration as the page shows it. Secrets are in it as fingerprints only.
public struct ShownConfiguration: Sendable {
    /// One setting in force.
    public struct Setting: Sendable {
        public let name: String
        /// A sentence of help.
        public let meaning: String
        /// `nil` when it is not set and has no default.
        public let value: String?
        /// The place that the value comes from: the environment, the file, or the default.
        public let source: String
        public let isDefault: Bool

        public init(_ name: String, meaning: String, value: String?, source: String, isDefault: Bool) {
            (self.name, self.meaning, self.value) = (name, meaning, value)
            (self.source, self.isDefault) = (source, isDefault)
        }
    }

    /// An entry of a list of the file, such as an app or an API key: facts by name.
    public struct Entry: Sendable {
        public let name: String
        public let facts: [Fact]

        public init(_ name: String, _ facts: [(name: String, value: String)]) {
            self.name = name
            self.facts = facts.map { Fact(name: $0.name, value: $0.value) }
        }
    }

    public struct Fact: Sendable {
        let name: String
        let value: String
    }

    public struct Section: Sendable {
        /// The anchor on the page.
        let id: String
        public let title: String
        public let entries: [Entry]

        public init(_ title: String, _ entries: [Entry]) {
            id = title.lowercased().split { !$0.isLetter }.joined(separator: "-")
            (self.title, self.entries) = (title, entries)
        }
    }

    /// A value that is registered at Apple or Google.
    public struct Registration: Sendable {
        /// The path of menus to the field.
        public let place: String
        public let values: [Fact]
        /// The check of `siwa doctor` that tries it; `nil` for a value that cannot be tried from here.
        public let check: String?
        /// The app whose notifications arrive at the values, by its primary client ID.
        public let notifiedApp: ClientID?

        public init(
            place: String, values: [(name: String, value: String)], check: String?,
            notifiedApp: ClientID? = nil
        ) {
            self.place = place
            self.values = values.map { Fact(name: $0.name, value: $0.value) }
            (self.check, self.notifiedApp) = (check, notifiedApp)
        }
    }

    public let settings: [Setting]
    public let sections: [Section]
    public let registrations: [Registration]

    public init(settings: [Setting], sections: [Section], registrations: [Registration]) {
        (self.settings, self.sections, self.registrations) = (settings, sections, registrations)
    }
}
