import NIOHTTP1

extension Answer {
    /// Sends a browser on with GET. The address may hold a secret: it is neither kept nor told to the next page.
    static func redirect(to location: String, cookie: String? = nil) -> Answer {
        var answer = Answer(status: .seeOther, contentType: nil, body: [], isPersonal: true)
        answer.fields = [("location", location), ("referrer-policy", "no-referrer")]
        if let cookie { answer.fields.append(("set-cookie", cookie)) }
        return answer
    }

    /// A page for a person who cannot be led back to the app.
    static func page(about problem: Problem) -> Answer {
        var answer = Answer(
            status: problem.status, contentType: "text/html; charset=utf-8",
            body: RefusalPage.html(problem), isPersonal: true)
        answer.code = problem.code
        answer.fields = [
            ("content-security-policy", RefusalPage.policy), ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ]
        return answer
    }
}
