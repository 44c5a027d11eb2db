import EmulatorServer
import Encodings

/// The search field above a list of users, and the links to other pages below the list, as forms without
/// scripts.
struct UserPageControls {
    let page: UserPage
    /// `get` or `post`.
    let method: String
    let action: String
    /// Hidden fields of the forms.
    var hidden: [(name: String, value: String)] = []

    /// The search field; empty while all users fit on one page.
    var search: String {
        guard page.found > UserPage.size || !page.search.isEmpty else { return "" }
        return """
            <form class="search" method="\(method)" action="\(action)" role="search">\(HiddenFields.html(hidden))\
            <input type="search" name="find" aria-label="Name, e-mail address or user ID" \
            placeholder="Name, e-mail or ID" maxlength="100" value="\(page.search.htmlEscaped)">\
            <button>Search</button></form>
            \(page.found == 0 ? "<p>No account has this text in its name, addresses or user ID.</p>" : "")
            """
    }

    var pager: String {
        guard page.newer != nil || page.older != nil else { return "" }
        let kept = page.search.isEmpty ? hidden : hidden + [("find", page.search)]
        return """
            <form class="pager" method="\(method)" action="\(action)">\(HiddenFields.html(kept))\
            \(button("Newer", page.newer))<span>\(page.offset + 1) to \(page.offset + page.users.count) of \(page.found)</span>\
            \(button("Older", page.older))</form>
            """
    }

    private func button(_ words: String, _ offset: Int?) -> String {
        guard let offset else { return "<button disabled>\(words)</button>" }
        return "<button name=\"from\" value=\"\(offset)\">\(words)</button>"
    }
}
