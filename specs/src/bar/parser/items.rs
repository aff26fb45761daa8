//! Declarations, and blocks with their agents.

use barcheck_model::program::{BinaryOp, Space, Target};

use super::{Class, Parsed, Parser};
use crate::bar::ast::{Allow, Expr, ExprKind, File, Item, Name, Object, Role, SharedBlock};
use crate::bar::foreign_syntax;
use crate::bar::mnemonics;
use crate::bar::syntax_error::SyntaxError;
use crate::bar::system;
use crate::bar::token::TokenKind;
use crate::bar::words;
use crate::common::span::Span;
use crate::common::suggest::closest;

impl Parser<'_, '_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        let Ok(target) = self.target() else {
            return file;
        };
        file.target = Some(target.0);
        file.target_span = target.1;
        while !self.at(TokenKind::End) {
            self.depth = 0;
            self.leave_role = false;
            match self.item() {
                Ok(item) => file.items.push(item),
                Err(_) if self.leave_role => {}
                Err(_) => self.recover_item(),
            }
        }
        file
    }

    fn target(&mut self) -> Parsed<(Target, Span)> {
        let start = self.current().span;
        if !self.eat_keyword("target") {
            let span = self.current().span;
            let kernel = foreign_syntax::kernel(self.source);
            return self.stop(&SyntaxError::NoTarget { kernel, span });
        }
        let word = self.word();
        let names = || Target::ALL.into_iter().map(Target::name);
        let Some(target) = Target::from_name(&word.to_ascii_lowercase()) else {
            if word.is_empty() {
                return self.expected("the name of a target");
            }
            let span = self.current().span;
            let suggestion = closest(word, names());
            return self.stop(&SyntaxError::UnknownTarget {
                word: word.chars().take(40).collect(),
                suggestion,
                span,
            });
        };
        self.advance_as(Class::Keyword);
        self.notation = system::notation(target);
        let span = self.span_from(start);
        if self.expect_semicolon().is_err() {
            self.recover_item();
        }
        Ok((target, span))
    }

    fn recover_item(&mut self) {
        if self.at(TokenKind::CloseBrace) {
            let span = self.advance().span;
            let _ = self.report::<()>(&SyntaxError::UnmatchedBrace { span });
            return;
        }
        self.recover();
    }

    fn item(&mut self) -> Parsed<Item> {
        let word = self.word();
        if word.is_empty() {
            if self.at(TokenKind::CloseBrace) {
                // The caller reports it and goes on behind it.
                return Err(super::Reported);
            }
            if matches!(self.current().kind, TokenKind::At | TokenKind::Percent) {
                return self.statement_outside_block();
            }
            let help = self.at(TokenKind::Semicolon).then(|| "remove this `;`".to_owned());
            return self.expected_with("a declaration or a block", help);
        }
        match word.to_ascii_lowercase().as_str() {
            "target" => {
                let span = self.current().span;
                self.report(&SyntaxError::SecondTarget { span })
            }
            "const" => self.constant(false),
            "param" => self.constant(true),
            "shared" => self.memory(Space::Shared),
            "global" => self.memory(Space::Global),
            "allow" => self.allow(),
            "block" => self.shared_block(),
            "subgroup_size" => self.subgroup_size(),
            "cluster" if self.notation.cluster => {
                let (keyword, value) = self.sized()?;
                Ok(Item::Cluster { keyword, value })
            }
            "maxnreg" if self.notation.cluster => {
                let (keyword, value) = self.sized()?;
                Ok(Item::Registers { keyword, value })
            }
            words::REPEATED if self.notation.cluster => {
                let keyword = self.advance_as(Class::Keyword).span;
                self.expect_keyword("count")?;
                let span = keyword.to(self.previous());
                self.expect_semicolon()?;
                Ok(Item::RepeatedArrivals { span })
            }
            lower if self.notation.objects == Some(lower) && self.ahead(1).kind == TokenKind::Word => {
                self.objects()
            }
            lower if words::is_size_word(lower) => self.size(),
            lower => match words::unit_noun(lower) {
                Some(noun) => self.role(noun),
                None => self.unknown_item(),
            },
        }
    }

    fn unknown_item(&mut self) -> Parsed<Item> {
        let word = self.word();
        let is_instruction = self.ahead(1).kind == TokenKind::Dot
            || mnemonics::find(word).next().is_some()
            || self.ahead(1).kind == TokenKind::Equal;
        if is_instruction || words::STATEMENTS.iter().any(|s| s.eq_ignore_ascii_case(word)) {
            return self.statement_outside_block();
        }
        let span = self.current().span;
        let is_size = words::SIZES_ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(word));
        let suggestion = if is_size {
            Some(self.notation.size)
        } else {
            closest(word, words::declarations(self.notation))
        };
        let word = word.chars().take(40).collect();
        let agents = self.notation.agents;
        self.report(&SyntaxError::UnknownItem { word, suggestion, agents, span })
    }

    fn statement_outside_block(&mut self) -> Parsed<Item> {
        let span = self.current().span;
        self.report(&SyntaxError::StatementOutsideBlock { target: self.notation.target, span })
    }

    /// Reports that the current word belongs to another target, where `right` is the word for this one.
    fn other_targets_word<T>(&mut self, right: &'static str) -> Parsed<T> {
        let (word, span) = (self.word().to_owned(), self.current().span);
        self.report(&SyntaxError::OtherTargetsWord { word, target: self.notation.target, right, span })
    }

    fn size(&mut self) -> Parsed<Item> {
        let right = self.notation.size;
        if !self.at_keyword(right) {
            // The declaration is read all the same, so that a missing size is not reported on top.
            let _ = self.other_targets_word::<()>(right);
        }
        let keyword = self.advance_as(Class::Keyword).span;
        let value = self.expr()?;
        if self.at(TokenKind::Comma) {
            let help = format!("one number says how many there are in all: `{right} 16 * 8;`");
            return self.expected_with("`;`", Some(help));
        }
        self.expect_semicolon()?;
        Ok(Item::Size { keyword, value })
    }

    fn subgroup_size(&mut self) -> Parsed<Item> {
        if !self.notation.subgroups {
            let span = self.current().span;
            let found = "`subgroup_size`".to_owned();
            let owners = Target::ALL.into_iter().filter(|target| system::notation(*target).subgroups);
            let owners: Vec<String> = owners.map(|target| format!("`{target}`")).collect();
            let help = Some(format!("subgroups belong to target {}", owners.join(" and ")));
            let expected = "a declaration or a block".to_owned();
            return self.report(&SyntaxError::Expected { expected, found, span, help });
        }
        let keyword = self.advance_as(Class::Keyword).span;
        let value = self.expr()?;
        self.expect_semicolon()?;
        Ok(Item::SubgroupSize { keyword, value })
    }

    /// A keyword and a number.
    fn sized(&mut self) -> Parsed<(Span, Expr)> {
        let keyword = self.advance_as(Class::Keyword).span;
        let value = self.expr()?;
        self.expect_semicolon()?;
        Ok((keyword, value))
    }

    fn constant(&mut self, param: bool) -> Parsed<Item> {
        self.advance_as(Class::Keyword);
        let name = self.name("a name")?;
        if self.at(TokenKind::Word) {
            let keyword = if param { "param" } else { "const" };
            let help = format!("all are integers: `{keyword} {} = 4;`, without a type", self.word());
            return self.expected_with("`=`", Some(help));
        }
        self.expect(TokenKind::Equal)?;
        let value = self.expr()?;
        self.expect_semicolon()?;
        Ok(Item::Constant { param, name, value })
    }

    fn memory(&mut self, space: Space) -> Parsed<Item> {
        self.advance_as(Class::Keyword);
        let mut arrays = Vec::new();
        loop {
            arrays.push(self.declarator()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_semicolon()?;
        Ok(Item::Memory { space, arrays })
    }

    fn objects(&mut self) -> Parsed<Item> {
        self.advance_as(Class::Keyword);
        let mut objects = Vec::new();
        loop {
            let (name, length) = self.declarator()?;
            let count = if self.eat_keyword("count") { Some(self.expr()?) } else { None };
            objects.push(Object { name, length, count });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if self.at(TokenKind::Number) {
            let help = "the arrivals that complete a phase follow `count`: `full[4] count 1`".to_owned();
            return self.expected_with("`;`", Some(help));
        }
        self.expect_semicolon()?;
        Ok(Item::Objects(objects))
    }

    /// A name, and the number of elements if it is an array's.
    fn declarator(&mut self) -> Parsed<(Name, Option<Expr>)> {
        let name = self.name("a name")?;
        if self.at(TokenKind::Word) && self.ahead(1).kind == TokenKind::OpenBracket {
            let help = format!("locations have no types: `{}[4]`", self.word());
            return self.expected_with("`;`", Some(help));
        }
        if !self.eat(TokenKind::OpenBracket) {
            return Ok((name, None));
        }
        let length = self.expr()?;
        self.expect(TokenKind::CloseBracket)?;
        self.one_index(&name)?;
        Ok((name, Some(length)))
    }

    /// Reports `a[4][16]`.
    pub(super) fn one_index(&mut self, array: &Name) -> Parsed<()> {
        if !self.at(TokenKind::OpenBracket) {
            return Ok(());
        }
        let help = format!("an array has one index: `{}[i * 16 + j]`", array.text);
        self.expected_with("`;`", Some(help))
    }

    fn shared_block(&mut self) -> Parsed<Item> {
        let keyword = self.advance_as(Class::Keyword).span;
        let name = self.name("the block's name")?;
        let mut parameters = Vec::new();
        if !self.at(TokenKind::OpenParenthesis) {
            let help = format!("its parameters follow its name: `block {}() {{ … }}`", name.text);
            return self.expected_with("`(`", Some(help));
        }
        self.advance_as(Class::Joint);
        while !self.at(TokenKind::CloseParenthesis) {
            parameters.push(self.name("a parameter's name")?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::CloseParenthesis)?;
        self.role = self.current().span;
        let block = self.block(keyword)?;
        Ok(Item::Block(SharedBlock { name, parameters, block }))
    }

    fn allow(&mut self) -> Parsed<Item> {
        let keyword = self.advance_as(Class::Keyword).span;
        let name = self.rule_name()?;
        if !self.at(TokenKind::String) {
            let help = format!("say why it may be: `allow {} \"the reason\";`", name.text);
            return self.expected_with("a reason in quotes", Some(help));
        }
        let span = self.advance().span;
        let reason = Name { text: self.text(span).trim_matches('"').trim().into(), span };
        let span = self.span_from(keyword);
        self.expect_semicolon()?;
        Ok(Item::Allow(Allow { name, reason, span }))
    }

    /// The name of a rule: words, joined by `-`.
    fn rule_name(&mut self) -> Parsed<Name> {
        let start = self.current().span;
        let mut text = String::new();
        loop {
            if !self.at(TokenKind::Word) {
                return self.expected("the name of a rule");
            }
            let word = self.advance().span;
            text.push_str(self.text(word));
            if !self.at(TokenKind::Minus) {
                break;
            }
            text.push('-');
            self.advance_as(Class::Joint);
        }
        Ok(Name { text: text.into(), span: self.span_from(start) })
    }

    fn role(&mut self, noun: &'static str) -> Parsed<Item> {
        if noun != self.notation.target.agent_noun() {
            let _ = self.other_targets_word::<()>(self.notation.agents);
        }
        let keyword = self.advance_as(Class::Keyword).span;
        let first = self.expr()?;
        self.no_list(&first)?;
        let end = self.range_end()?;
        let ctas = if self.notation.cluster && self.eat_keyword("of") { Some(self.ctas()?) } else { None };
        let name = if self.eat_keyword("as") { Some(self.role_name()?) } else { None };
        if name.is_none() && self.at(TokenKind::Word) && self.ahead(1).kind == TokenKind::OpenBrace {
            let help = format!("the block's name follows `as`: `as {} {{ … }}`", self.word());
            return self.expected_with("`{`", Some(help));
        }
        if name.is_none() && end.is_none() && self.at(TokenKind::Semicolon) {
            let (size, agents) = (self.notation.size, self.notation.agents);
            let help = format!("how many there are says `{size} N;`, what they do `{agents} 0..N {{ … }}`");
            return self.expected_with("`{`", Some(help));
        }
        let head = self.span_from(keyword);
        self.role = self.current().span;
        let block = self.block(keyword)?;
        Ok(Item::Role(Role { first, end, ctas, name, head, block }))
    }

    /// Reports `warps 0-3` and `warp 1, 2`.
    fn no_list(&mut self, first: &Expr) -> Parsed<()> {
        let agents = self.notation.agents;
        if let ExprKind::Binary(BinaryOp::Sub, from, to) = &first.kind
            && let (ExprKind::Int(from), ExprKind::Int(to)) = (&from.kind, &to.kind)
            && from < to
        {
            let (expected, found) = ("`..`".to_owned(), "`-`".to_owned());
            let help = Some(format!(
                "a range leaves its end out: `{agents} {from}..{} {{ … }}`",
                to.saturating_add(1)
            ));
            return self.report(&SyntaxError::Expected { expected, found, span: first.span, help });
        }
        if self.at(TokenKind::Comma) {
            let help = format!(
                "a block is of agents side by side: `{agents} 1..4 {{ … }}`; what others do as well stands in a \
                 `block` of its own, used by each"
            );
            return self.expected_with("`{`", Some(help));
        }
        Ok(())
    }

    /// `cta 1`, or `ctas 1..4`.
    fn ctas(&mut self) -> Parsed<(Expr, Option<Expr>)> {
        if !self.eat_keyword("cta") && !self.eat_keyword("ctas") {
            let help =
                "say of which CTAs: `warp 0 of cta 1 { … }`, `warps 0..4 of ctas 1..3 { … }`".to_owned();
            return self.expected_with("`cta` or `ctas`", Some(help));
        }
        let first = self.expr()?;
        Ok((first, self.range_end()?))
    }

    /// The name of a role, which stands where no keyword could be meant.
    fn role_name(&mut self) -> Parsed<Name> {
        if !self.at(TokenKind::Word) {
            return self.expected("a name");
        }
        let span = self.advance().span;
        Ok(Name { text: self.text(span).into(), span })
    }
}
