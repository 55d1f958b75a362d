//! Joins loads and the operation behind them into one operation.
//!
//! A joined operation stands in the place of the first; the others stay behind it and are skipped, so that jumps keep
//! their targets, the check sees every operation, and what the joined one does not know is done by them.

use crate::bytecode::Op;
use crate::value::Value;

/// Joins what can be joined in the code of one unit.
pub(super) fn join(ops: &mut [Op], consts: &[Value]) {
    let targets = targets(ops);
    let plain = ops.to_vec();
    for idx in 0..plain.len() {
        let enters = |at: usize| targets.get(at).copied().unwrap_or(true);
        let end = (idx + 1..plain.len().min(idx + 4)).find(|at| enters(*at));
        let run = &plain[idx..end.unwrap_or(plain.len().min(idx + 4))];
        if let Some(joined) = joined(run, consts) {
            ops[idx] = joined;
        }
    }
}

/// Which operations are jumped to.
fn targets(ops: &[Op]) -> Vec<bool> {
    let mut targets = vec![false; ops.len() + 1];
    for mut op in ops.iter().copied() {
        if let Some(it) = op.target_mut() {
            targets[*it as usize] = true;
        }
    }
    targets
}

/// What the first operations of a run are in one.
fn joined(run: &[Op], consts: &[Value]) -> Option<Op> {
    let constant = |idx: u32| number(consts, idx);
    match *run {
        [Op::Local(a), Op::Local(b), Op::Dup2, Op::Index, ..] => {
            Some(Op::ItemLL(small(a)?, small(b)?))
        }
        [Op::Local(a), Op::Const(b), Op::Dup2, Op::Index, ..] => {
            Some(Op::ItemLC(small(a)?, constant(b)?))
        }
        [Op::Local(a), Op::Local(b), third, ..] => local_and_local(small(a)?, small(b)?, third),
        [Op::Local(a), Op::Const(b), third, ..] => {
            local_and_constant(small(a)?, constant(b)?, third)
        }
        [Op::Local(b), Op::Binary(op), ..] => Some(Op::BinaryL(op, small(b)?)),
        [Op::Local(b), Op::CompareJump(op, _), ..] => Some(Op::CompareJumpL(op, small(b)?)),
        [Op::Local(slot), Op::Attr { name, cache }, ..] => {
            Some(Op::AttrL { slot: small(slot)?, name, cache })
        }
        [Op::Local(slot), Op::SetAttr { name, cache }, ..] => {
            Some(Op::SetAttrL { slot: small(slot)?, name, cache })
        }
        [Op::Const(b), Op::Binary(op), ..] => Some(Op::BinaryC(op, constant(b)?)),
        [Op::Const(b), Op::CompareJump(op, _), ..] => Some(Op::CompareJumpC(op, constant(b)?)),
        _ => None,
    }
}

fn local_and_local(a: u8, b: u8, third: Op) -> Option<Op> {
    Some(match third {
        Op::Binary(op) | Op::Inplace(op) => Op::BinaryLL(op, a, b),
        Op::CompareJump(op, _) => Op::CompareJumpLL(op, a, b),
        Op::Index => Op::IndexLL(a, b),
        Op::SetIndex => Op::SetIndexLL(a, b),
        _ => return None,
    })
}

fn local_and_constant(a: u8, b: u16, third: Op) -> Option<Op> {
    Some(match third {
        Op::Binary(op) | Op::Inplace(op) => Op::BinaryLC(op, a, b),
        Op::CompareJump(op, _) => Op::CompareJumpLC(op, a, b),
        Op::Index => Op::IndexLC(a, b),
        Op::SetIndex => Op::SetIndexLC(a, b),
        _ => return None,
    })
}

/// A slot that fits into a joined operation.
fn small(slot: u32) -> Option<u8> {
    u8::try_from(slot).ok()
}

/// The place of a constant that is a number; only these have short ways.
fn number(consts: &[Value], idx: u32) -> Option<u16> {
    let known = matches!(consts.get(idx as usize), Some(Value::Int(_) | Value::Float(_)));
    u16::try_from(idx).ok().filter(|_| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operate::{BinaryOp, CompareOp};

    fn joined_at(idx: usize, mut ops: Vec<Op>) -> Op {
        join(&mut ops, &[Value::Int(1), Value::None]);
        ops[idx]
    }

    #[test]
    fn the_longest_run_is_joined_and_the_rest_stays() {
        let item = vec![Op::Local(3), Op::Const(0), Op::Dup2, Op::Index];
        assert_eq!(joined_at(0, item.clone()), Op::ItemLC(3, 0));
        assert_eq!(joined_at(3, item), Op::Index);
        let sum = vec![Op::Local(1), Op::Local(2), Op::Binary(BinaryOp::Add)];
        assert_eq!(joined_at(0, sum.clone()), Op::BinaryLL(BinaryOp::Add, 1, 2));
        assert_eq!(joined_at(1, sum), Op::BinaryL(BinaryOp::Add, 2));
    }

    #[test]
    fn what_is_jumped_into_and_what_has_no_short_way_stays() {
        let sum = |jump| vec![Op::Local(1), Op::Const(0), Op::Binary(BinaryOp::Add), jump];
        assert_eq!(joined_at(0, sum(Op::Jump(0))), Op::BinaryLC(BinaryOp::Add, 1, 0));
        assert_eq!(joined_at(0, sum(Op::Jump(1))), Op::Local(1));
        assert_eq!(joined_at(0, sum(Op::Loop(2))), Op::Local(1));
        let none = vec![Op::Const(1), Op::CompareJump(CompareOp::Eq, 0)];
        assert_eq!(joined_at(0, none), Op::Const(1));
        let far = vec![Op::Local(256), Op::Binary(BinaryOp::Add)];
        assert_eq!(joined_at(0, far), Op::Local(256));
    }

    #[test]
    fn a_joined_operation_knows_the_first_it_stands_for() {
        let compare = vec![Op::Const(0), Op::CompareJump(CompareOp::Lt, 0), Op::None];
        assert_eq!(joined_at(0, compare.clone()).unjoined(), compare[0]);
        let store = vec![Op::Local(7), Op::Local(8), Op::SetIndex];
        assert_eq!(joined_at(0, store.clone()).unjoined(), store[0]);
    }
}
