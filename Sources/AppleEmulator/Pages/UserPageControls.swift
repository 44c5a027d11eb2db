/// The search field above a list of users, and the way to its other pages below it. Forms of their own, without scripts.
struct UserPageControls {
    let page: UserPage
    /// `get` or `post`, and where to.
    let method: String
    let action: String
    /// What the forms must bring along.
    var hidden: [(name: String, value: String)] = []

    /// Nothing while all users fit one page.
    var search: String {
        guard page.found > UserPage.size || !page.search.isEmpty else { return "" }
        return """
            <form class="search" method="\(method)" action="\(action)" role="search">\(fields(hidden))\
            <input type="search" name="find" aria-label="Name, e-mail address or user ID" \
            placeholder="Name, e-mail or ID" maxlength="100" value="\(page.search.htmlEscaped)">\
            <button>Search</button></form>
            \(page.found == 0 ? "<p>No account has this in its name, its addresses or its user ID.</p>" : "")
            """
    }

    var pager: String {
        guard page.newer != nil || page.older != nil else { return "" }
        let kept = page.search.isEmpty ? hidden : hidden + [("find", page.search)]
        return """
            <form class="pager" method="\(method)" action="\(action)">\(fields(kept))\
            \(button("Newer", page.newer))<span>\(page.offset + 1) to \(page.offset + page.users.count) of \(page.found)</span>\
            \(button("Older", page.older))</form>
            """
    }

    private func button(_ words: String, _ offset: Int?) -> String {
        guard let offset else { return "<button disabled>\(words)</button>" }
        return "<button name=\"from\" value=\"\(offset)\">\(words)</button>"
    }

    private func fields(_ fields: [(name: String, value: String)]) -> String {
        fields.map { name, value in
            "<input type=\"hidden\" name=\"\(name.htmlEscaped)\" value=\"\(value.htmlEscaped)\">"
        }.joined()
    }
}
