/// A sentence below the scopes with one place in it, which a link or a quotation fills.
struct ConsentNote: Sendable {
    let template: String
    /// The word in braces that stands for the place.
    let place: String
    /// The text at the place.
    let text: String
    /// The target of a link; `nil` for a quotation.
    let url: String?

    var markup: [String: Markup] {
        [place: url.map { .link(.text(text), to: $0) } ?? .text(text)]
    }

    /// The sentence without markup.
    var plain: String { Markup.plain(template, [place: text]) }
}
