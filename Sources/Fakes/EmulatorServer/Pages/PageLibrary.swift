import PageTemplates

/// The templates of an emulator's pages, and the parts that all emulators have in common.
package struct PageLibrary: Sendable {
    static let document = PageLibrary([:])

    private let library: TemplateLibrary

    /// - Parameter templates: The text of each template by its name. They are part of the program, and the tests
    ///   open every page, so a mistake in them is a programmer's.
    package init(_ templates: [String: [UInt8]]) {
        let shared = [
            "document": PackageResources.document_mustache, "hidden": PackageResources.hidden_mustache,
            "refusal": PackageResources.refusal_mustache,
        ]
        do {
            library = try TemplateLibrary(shared.merging(templates) { _, own in own })
        } catch {
            preconditionFailure("a template is malformed: \(error)")
        }
    }

    /// Returns the template with these values, which are escaped.
    package func render(_ name: String, _ values: Any) -> String {
        guard let html = library.render(name, values) else {
            preconditionFailure("there is no template \(name)")
        }
        return html
    }
}

/// A row of a table, or a hidden field of a form.
package struct PageField: Sendable {
    let name: String
    let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}
